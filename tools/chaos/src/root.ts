import { fileURLToPath } from 'node:url';

/** The repository, from dist/tools/chaos/src. */
export const root = fileURLToPath(new URL('../../../../', import.meta.url));
