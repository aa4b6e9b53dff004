/** See tricky.mjs, which the tests in a real editor use as it is. */
export function tricky(few?: boolean): string[];
export const tooLong: readonly string[];
