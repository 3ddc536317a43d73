type Json = Record<string, unknown>;

/** Tokens of all result lines, whatever their endpoint calls them. */
export class UsageSum {
  private input = 0;
  private cached = 0;
  private output = 0;
  private reasoning = 0;

  /** A result line. */
  add(content: string): void {
    const { response } = JSON.parse(content) as { response: { body: { usage?: Json | null } } | null };
    const { usage } = response?.body ?? {};
    if (usage == null) return;
    this.input += count(usage, 'prompt_tokens', 'input_tokens');
    this.output += count(usage, 'completion_tokens', 'output_tokens');
    this.cached += count(within(usage, 'prompt_tokens_details', 'input_tokens_details'), 'cached_tokens');
    this.reasoning += count(
      within(usage, 'completion_tokens_details', 'output_tokens_details'),
      'reasoning_tokens',
    );
  }

  get shown(): Json {
    return {
      input_tokens: this.input,
      input_tokens_details: { cached_tokens: this.cached },
      output_tokens: this.output,
      output_tokens_details: { reasoning_tokens: this.reasoning },
      total_tokens: this.input + this.output,
    };
  }
}

function count(usage: Json, ...names: string[]): number {
  const found = names.map((name) => usage[name]).find((value) => typeof value === 'number');
  return typeof found === 'number' && Number.isSafeInteger(found) ? found : 0;
}

function within(usage: Json, ...names: string[]): Json {
  const found = names.map((name) => usage[name]).find((value) => typeof value === 'object' && value !== null);
  return (found ?? {}) as Json;
}
