// Package firstrun asks the questions that come before a first session: whether to
// trust a folder, and which model to use. It guarantees that a person sees everything
// that an answer allows before giving it, that leaving is possible at every step and
// changes nothing, and that a key is never shown or written where others can read it.
package firstrun
