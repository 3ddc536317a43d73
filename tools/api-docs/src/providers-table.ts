import { PROVIDERS, type Provider } from '@gateway/providers';

const INTRO = `# Providers and their variables

Made from the adapters by \`npm run docs:generate\`. A provider is enabled where the variable of its key is set, itself or
as \`<NAME>_FILE\`, which names a file that holds the key. It is called at its address unless the variable of the address
names another one, also on a private network; the address of Azure, vLLM and compatible servers may end at the host or with its path.
A server without keys (Ollama, vLLM, compatible servers) is enabled by its address alone.

`;
const HEAD = ['provider', 'slug', 'key', 'address', 'default address', 'further variables'];

/** Every provider with the variables that it is set up by, as Markdown. The built-in simulated ones are left out. */
export function providersTable(providers: readonly Provider[] = PROVIDERS): string {
  const rows = providers.filter(({ slug }) => !slug.startsWith('simulated')).map(rowOf);
  const lines = [HEAD, HEAD.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${INTRO}${lines.join('\n')}\n`;
}

function rowOf({
  name,
  slug,
  credentialEnv,
  baseUrlEnv,
  defaultBaseUrl,
  isKeyless,
  furtherEnv = {},
}: Provider) {
  const address = new URL(defaultBaseUrl);
  const key = isKeyless ? `${code(credentialEnv)}, if any` : code(credentialEnv);
  const further = Object.entries(furtherEnv).map(([variable, use]) => `${code(variable)}: ${use}`);
  // An address below .invalid stands for one that each customer of the provider has alone.
  const usual = address.hostname.endsWith('.invalid') || isKeyless ? 'none: has to be set' : defaultBaseUrl;
  return [name, slug, key, code(baseUrlEnv), usual, further.join('<br>')];
}

function code(name: string): string {
  return `\`${name}\``;
}
