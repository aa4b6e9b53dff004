/** As much of JSON Schema as the tools need. */
export interface ObjectSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

export type Schema =
  | ObjectSchema
  | { readonly type: "string"; readonly description?: string; readonly enum?: readonly string[]; readonly maxLength?: number }
  | { readonly type: "array"; readonly description?: string; readonly items: Schema }
  | { readonly type: "boolean"; readonly description?: string }
  | { readonly type: "integer"; readonly description?: string; readonly minimum?: number; readonly maximum?: number };

/**
 * The first error of a value, or undefined. Properties that the schema does not name are allowed: a
 * newer client may send more.
 */
export function problem(schema: Schema, value: unknown, name: string): string | undefined {
  switch (schema.type) {
    case "object":
      return objectProblem(schema, value, name);
    case "string":
      if (typeof value !== "string") return `${name} must be a string`;
      if (schema.enum !== undefined && !schema.enum.includes(value)) return `${name} must be one of ${schema.enum.join(", ")}`;
      if (value.length > (schema.maxLength ?? Infinity)) return `${name} is too long`;
      return undefined;
    case "array":
      if (!Array.isArray(value)) return `${name} must be a list`;
      return value.map((each, index) => problem(schema.items, each, `${name}[${index}]`)).find((wrong) => wrong !== undefined);
    case "boolean":
      return typeof value === "boolean" ? undefined : `${name} must be true or false`;
    case "integer":
      if (typeof value !== "number" || !Number.isSafeInteger(value)) return `${name} must be a whole number`;
      if (value < (schema.minimum ?? -Infinity) || value > (schema.maximum ?? Infinity)) return `${name} is out of range`;
      return undefined;
  }
}

function objectProblem(schema: ObjectSchema, value: unknown, name: string): string | undefined {
  if (!isObject(value)) return `${name} must be an object`;
  for (const key of schema.required ?? []) {
    if (value[key] === undefined || value[key] === null) return `${name}.${key} is missing`;
  }
  for (const [key, part] of Object.entries(schema.properties)) {
    if (value[key] === undefined || value[key] === null) continue;
    const wrong = problem(part, value[key], `${name}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
