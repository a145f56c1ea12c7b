"""Values without places: quantities, naturals, types, signatures."""
