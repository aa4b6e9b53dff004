// A reporter that names each failed test in a few lines, for the end of a run of several lanes.
export default async function* failures(source) {
  for await (const { type, data } of source) {
    if (type !== "test:fail" || data.details.error.failureType === "subtestsFailed") continue;
    const { cause, message } = data.details.error;
    yield `${data.file}:${data.line}: ${data.name}\n  ${(cause?.message ?? message).slice(0, 2_000)}\n`;
  }
}
