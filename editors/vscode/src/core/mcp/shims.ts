// Replaces the MCP SDK's own choice of a runtime; the build puts it in place.
export { default as process } from "node:process";

/** We never ask a client to fill in a form, so no answer has to be validated. */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error("no validator: clients are not asked anything");
  }
}
