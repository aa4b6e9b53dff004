// What the MCP SDK takes from its runtime, put in place of its own by the build.
export { default as process } from "node:process";

/** We never ask a client to fill in a form, so no answer has to be validated. */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("no validator: clients are not asked anything");
  }
}
