import { knots } from './cycles.js';
import { importGraph } from './imports.js';
import { type Finding, isSpec, type SourceTree } from './tree.js';

const projectPattern = /^(?<project>(?:libs\/services|libs|apps|tools|lab)\/[^/]+)\/src\/(?<place>[^/]+)/;

/**
 * The places of a project depend one way. A place is a folder directly below `src`, or a file beside those folders:
 * each such file stands alone, so that an index or a module may compose the folders that use the types beside it.
 * Specs and fixtures may import what they test.
 */
export function folderFaults(tree: SourceTree): Finding[] {
  const projects = new Map<string, Map<string, Map<string, string>>>();
  for (const [path, targets] of importGraph(tree)) {
    if (isSpec(path) || path.endsWith('.fixture.ts')) continue;
    const from = placeOf(path);
    if (from === undefined) continue;
    for (const target of targets) {
      const to = placeOf(target);
      if (to === undefined || to.project !== from.project || to.place === from.place) continue;
      const places = projects.get(from.project) ?? new Map<string, Map<string, string>>();
      const imports = places.get(from.place) ?? new Map<string, string>();
      if (!imports.has(to.place)) imports.set(to.place, `${path} imports ${to.place}`);
      projects.set(from.project, places.set(from.place, imports));
    }
  }
  return [...projects].flatMap(([project, places]) => faultsOf(project, places));
}

function placeOf(path: string): { project: string; place: string } | undefined {
  const { project, place } = projectPattern.exec(path)?.groups ?? {};
  return project === undefined || place === undefined ? undefined : { project, place };
}

function faultsOf(project: string, places: ReadonlyMap<string, ReadonlyMap<string, string>>): Finding[] {
  const graph = new Map([...places].map(([place, imports]) => [place, [...imports.keys()]]));
  // A circle of files alone is a cycle of files, which has a rule of its own.
  const circles = knots(graph).filter((knot) => knot.some((place) => !/\.tsx?$/.test(place)));
  return circles.map((knot) => {
    const examples = knot.flatMap((from) => knot.flatMap((to) => places.get(from)?.get(to) ?? []));
    const message = `${knot.join(', ')} depend on each other: ${examples.join('; ')}`;
    return { rule: 'folder-direction', path: `${project}/src/${knot[0] ?? ''}`, message };
  });
}
