"""Operations of the product, one function each, in packages by noun. No transport."""
