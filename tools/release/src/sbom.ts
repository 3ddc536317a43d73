import { nameAt, type Locked } from './shipped.js';

interface Component {
  'bom-ref': string;
  name: string;
  version?: string;
}
/** The part of a CycloneDX document that is edited here. */
export interface Bom {
  bomFormat: string;
  specVersion: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** Returns what `npm sbom` made of the lock file, without the packages that no image has inside. */
export function narrowed(bom: Bom, inside: ReadonlyMap<string, Locked>): Bom {
  const kept = new Set([...inside].map(([path, { version: at }]) => `${nameAt(path)}@${at ?? ''}`));
  const components = bom.components.filter((component) =>
    kept.has(`${component.name}@${component.version ?? ''}`),
  );
  const { component } = bom.metadata;
  const refs = new Set([component, ...components].map((one) => one['bom-ref']));
  // npm names it after the folder that it ran in.
  const own = { ...component, name: 'model-gateway' };
  return {
    ...bom,
    metadata: { ...bom.metadata, component: own },
    components,
    dependencies: bom.dependencies
      .filter(({ ref }) => refs.has(ref))
      .map((one) => ({ ...one, dependsOn: one.dependsOn?.filter((ref) => refs.has(ref)) ?? [] })),
  };
}
