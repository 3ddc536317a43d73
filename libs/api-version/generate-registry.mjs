// Writes the list of API versions from the files of src/versions, so that adding a version is adding one file.
import { readdirSync, writeFileSync } from 'node:fs';
import { registrySource } from './src/registry-source.ts';

const folder = new URL('./src/', import.meta.url);
writeFileSync(
  new URL('versions.generated.ts', folder),
  registrySource(readdirSync(new URL('versions', folder))),
);
