// Finds the program in the package for this system, which npm installed beside this one.
"use strict";

const { name } = require("./package.json");

exports.program = () => {
  const system = `${name}-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${system}/bin/agent${process.platform === "win32" ? ".exe" : ""}`);
  } catch (error) {
    throw new Error(`${system} is not installed. There are packages for Linux, macOS and Windows on x64 and arm64; npm leaves them out with --omit=optional.`, { cause: error });
  }
};
