"""The command line, drawings, and inverses written out as modules."""
