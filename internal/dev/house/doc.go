// Package house has the rules of the repository as tests: which package imports which, the home
// of each library, the sizes of functions and files, the English of comments, the guards of
// goroutines, and the truth of the documentation. They read the sources and run nothing of them.
package house
