// Jest's transform for one file at a time: the source with the mutant of this run in it. Nothing on the disk changes.
import { createHash } from 'node:crypto';
import swcJest from '@swc/jest';

const CONFIGURED = createHash('sha256');

function mutated(source, path) {
  const mutant = process.env.MUTANT ? JSON.parse(process.env.MUTANT) : null;
  if (mutant === null || !path.endsWith(`/${mutant.file}`)) return source;
  return source.slice(0, mutant.start) + mutant.to + source.slice(mutant.end);
}

export default {
  createTransformer(options) {
    const inner = swcJest.createTransformer(options);
    const configured = CONFIGURED.copy().update(JSON.stringify(options));
    return {
      process: (source, path, settings) => inner.process(mutated(source, path), path, settings),
      processAsync: (source, path, settings) => inner.processAsync(mutated(source, path), path, settings),
      // Without the settings of the run: they differ for every mutant, the other files do not.
      getCacheKey: (source, path, { supportsStaticESM }) =>
        configured
          .copy()
          .update(`${path}\0${supportsStaticESM}\0${mutated(source, path)}`)
          .digest('hex')
          .slice(0, 32),
    };
  },
};
