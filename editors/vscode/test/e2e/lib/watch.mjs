// Watches files by the system's own notice of each change (inotify on Linux), so
// that nothing is missed that lasts for a moment only.
import fs from "node:fs";
import path from "node:path";

/** From now on, what happens to a file; stop returns it all. */
export function watchFile(file) {
  const seen = [];
  const watcher = fs.watch(path.dirname(file), (event, name) => {
    if (name !== path.basename(file)) return;
    seen.push(`${event}: ${fs.existsSync(file) ? JSON.stringify(fs.readFileSync(file, "utf8")) : "gone"}`);
  });
  return {
    seen,
    stop: async () => {
      // Events that the system has reported already are delivered first.
      await new Promise((done) => setImmediate(done));
      watcher.close();
      return seen;
    },
  };
}
