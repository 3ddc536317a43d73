/** Names of members of a body that a schema does not have. At most 32: a header names them. */
export function unreadMembers(
  body: Readonly<Record<string, unknown>>,
  { properties }: { readonly properties: object },
): string[] {
  const names = Object.keys(body).filter((name) => !Object.hasOwn(properties, name) && body[name] != null);
  return names.filter((name) => /^[\w.-]{1,64}$/.test(name)).slice(0, 32);
}
