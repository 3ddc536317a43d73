export function slowestOf(files: { path: string; ms: number }[]): string[];
export function leftOutText(leftOut: { sentences: string[]; specs: string[] }): string;
export default class RunSummary {
  constructor(globalConfig: { rootDir: string });
  onRunComplete(
    contexts: unknown,
    results: { testResults: { testFilePath: string; perfStats: { start: number; end: number } }[] },
  ): void;
}
