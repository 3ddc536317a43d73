import type { Provider } from '@gateway/providers';
import { endpointMatrix, REAL_PROVIDERS } from './endpoints-table.js';
import { markdownTable } from './markdown-table.js';

const INTRO = `# Providers and their variables

Made from \`libs/providers\` by \`npm run docs:generate\`. A provider is enabled where the variable of its key is set, itself or
as \`<NAME>_FILE\`, which names a file that holds the key. It is called at its address unless the variable of the address
names another one, also on a private network; the address of Azure, vLLM and compatible servers may end at the host or with its path.
A server without keys (Ollama, vLLM, compatible servers) is enabled by its address alone.

Azure calls a model by the name of a deployment, which each resource chooses. The resource's own list is read for it:
\`GET /openai/deployments?api-version=2023-03-15-preview\`, with the credential of its calls. Later API versions have no such list, and
the version 1 address lists all models of its region. The list of a Foundry project needs a name of a project and another scope
([more](platform-credentials.md)).

`;
const ENDPOINTS = `
## What each serves
A mark says that the gateway speaks the provider's format for it; which models that reaches, the catalogue says. Text is chat
completions, messages and responses alike. Audio translations and image edits depend on the model. Batches run with every
provider, line by line; "own batches" are those that the provider runs itself.

`;
const HEAD = ['provider', 'slug', 'key', 'address', 'default address', 'further variables'];

/** Every provider with the variables that it is set up by and the endpoints that it serves, as Markdown. */
export function providersTable(providers: readonly Provider[] = REAL_PROVIDERS): string {
  return `${INTRO}${markdownTable(HEAD, providers.map(rowOf))}${ENDPOINTS}${endpointMatrix(providers)}`;
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
