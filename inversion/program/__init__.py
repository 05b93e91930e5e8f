"""Programs: statements that relate variables, branches and loops among them. Data only."""
