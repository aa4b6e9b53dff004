import { constants } from "node:os";

/** The output without the line that the person's bash itself printed after the command: that it was killed. */
export function withoutNotice(output: string, exitCode: number | null): string {
  if (exitCode === null || exitCode <= 128) return output;
  const signal = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0];
  const word = signal === undefined ? undefined : words[signal];
  if (word === undefined) return output;
  return output.replace(new RegExp(`(?<=^|\\n)${word}(?: +\\(core dumped\\))?(?: {2,}.*)?\\n$`), "");
}

const words: Readonly<Record<string, string>> = {
  SIGKILL: "Killed",
  SIGTERM: "Terminated",
  SIGHUP: "Hangup",
  SIGQUIT: "Quit",
  SIGABRT: "Abort(?:ed)?",
  SIGSEGV: "Segmentation fault",
  SIGALRM: "Alarm clock",
};
