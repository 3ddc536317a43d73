interface Target {
  command?: string;
  executor?: string;
  cache?: boolean;
  dependsOn?: string[];
  inputs?: string[];
  outputs?: string[];
}
type Projects = Record<string, { targets: Record<string, Target> }>;

export const createNodes: [
  pattern: string,
  create: (
    files: readonly string[],
    options: undefined,
    context: { workspaceRoot: string },
  ) => [file: string, { projects: Projects }][],
];
export function createDependencies(
  options: undefined,
  context: {
    projects: Record<string, { root: string }>;
    workspaceRoot: string;
    filesToProcess: { projectFileMap: Record<string, { file: string }[]> };
  },
): { source: string; target: string; sourceFile: string; type: string }[];
export function importsOf(text: string): string[];
