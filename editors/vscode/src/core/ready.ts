/**
 * For as long a review or a question has to be in front of a person before an answer
 * counts, in milliseconds: a key or a click that comes sooner was meant for something else.
 */
export const readyMs = 400;

/**
 * For as long the buttons of a review are off. A timer may end a little early by the
 * clock that judges the answer, and a button that is on must not be pressed in vain.
 */
export const buttonsMs = readyMs + 50;
