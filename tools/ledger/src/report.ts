import { DIFFERENCES, type FullProof } from '@gateway/usage';

/** Returns the findings of a full proof, for a terminal. */
export function report({ sums, findings, unpriced }: FullProof): string {
  const lines = Object.entries(sums).map(([name, amount]) => `${name.padEnd(17)} ${amount} USD`);
  const isEqual = new Set(Object.values(sums)).size === 1;
  lines.push(isEqual ? 'the sums are equal' : 'the sums differ', '');
  for (const { kind, account, scope, expected, found } of findings) {
    const where = [account, scope].filter((part) => part !== null).join(' ');
    lines.push(`${kind}  ${where}  expected ${expected}, found ${found}`, `    ${DIFFERENCES[kind]}`);
  }
  if (unpriced > 0)
    lines.push(`${unpriced} billed events were not priced again: their snapshots cannot be read`);
  lines.push(findings.length === 0 ? 'no difference' : `${findings.length} differences`, '');
  return lines.join('\n');
}
