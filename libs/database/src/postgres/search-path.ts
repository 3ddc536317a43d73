/** The start-up option that makes unqualified names mean this schema. */
export function searchPath(schema: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`"${schema}" cannot be a schema: use lower-case letters, digits and underscores.`);
  }
  return `-c search_path=${schema}`;
}
