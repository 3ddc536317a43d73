/** Names of Bedrock's inference profiles that compute in any region of a geography, or of the world. */
const ACROSS_REGIONS = /^(global|us|us-gov|eu|apac|jp|au|ca|sa)\./;

/**
 * Returns the regions in which a route computes: its own, else those of its provider. A profile across regions computes
 * in others than the one that is asked: none of its provider's is promised, and a policy that asks for a region leaves it
 * out.
 */
export function routeRegions(
  { provider, upstream_model, regions }: { provider: string; upstream_model: string; regions: string[] },
  ofProvider: string[],
): string[] {
  if (regions.length > 0) return regions;
  return provider === 'amazon-bedrock' && ACROSS_REGIONS.test(upstream_model) ? [] : ofProvider;
}
