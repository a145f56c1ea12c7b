"""The values that stages share: quantities, naturals, element types, types, roles and signatures."""
