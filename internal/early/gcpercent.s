//go:build gc && go1.26 && !go1.28

// This file lets the compiler accept a function without a body.
