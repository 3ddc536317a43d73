const SLUGS: readonly string[] = ['simulated', 'simulated-messages'];

/** True for the slug of a built-in provider that answers without a model. */
export function isSimulated(slug: string): boolean {
  return SLUGS.includes(slug);
}
