// The extension host calls this: it runs the bundled tests with mocha and writes
// their report to the file that TEST_REPORT names.
const fs = require("node:fs");
const path = require("node:path");

exports.run = async () => {
  const Mocha = require(process.env.TEST_MOCHA);
  const mocha = new Mocha({
    timeout: 20_000,
    reporter: "json",
    reporterOptions: { output: process.env.TEST_REPORT },
  });
  for (const name of fs.readdirSync(process.env.TEST_FILES)) {
    if (name.endsWith(".test.js")) mocha.addFile(path.join(process.env.TEST_FILES, name));
  }
  const failures = await new Promise((resolve) => mocha.run(resolve));
  if (failures > 0) throw new Error(`${failures} tests failed`);
};
