"""A plan walked through choice by choice."""
