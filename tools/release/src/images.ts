/** Apps with an image of their own, from the one Dockerfile. */
const IMAGES = ['all-in-one', 'catalogue', 'edge', 'keys', 'notifications', 'usage', 'workers'] as const;

const DIGEST = /^[\w./:-]+@sha256:[0-9a-f]{64}$/;

/** True for a reference of an image by its digest: what is built on it does not change when its tag moves. */
export function isByDigest(image: string): boolean {
  return DIGEST.test(image);
}

/** Returns the commands that build and push the images, for both processors. */
export function buildCommands(version: string, commit: string, base: string): string[] {
  return IMAGES.map((app) =>
    [
      'docker buildx build --platform linux/amd64,linux/arm64 -f deploy/docker/Dockerfile',
      `--build-arg BASE=${base} --build-arg APP=${app} --build-arg COMMIT=${commit}`,
      `-t "$REGISTRY/model-gateway-${app}:${version}" --push .`,
    ].join(' '),
  );
}
