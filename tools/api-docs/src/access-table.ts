import type { AccessRule } from '@gateway/platform';
import type { DescribedRoute } from './described-routes.js';
import { markdownTable } from './markdown-table.js';

const INTRO = `# Who may call what

Made from the \`@Access\` of every management endpoint by \`npm run docs:generate\`; the inference endpoints take an
\`rsk_\` key with \`inference:write\`, /v1/web/search one with \`search:write\`, /v1/evaluate with \`evaluate:write\`,
/v1/realtime with \`realtime:connect\`. **all** = to everything of the organization, **own** = to what the person made or
what is of their own account, **yes** = the endpoint concerns no organization, or answers with what the caller may see. A
caller whose column is empty gets 403, an organization that a person is not in answers 404 like an unknown one, a caller
that is not known 401.

`;
const HEAD = ['endpoint', 'owner', 'admin', 'member', 'any person', 'super admin', 'rsk_ key', 'mak_ key'];

/** The endpoint x role table, as Markdown. */
export function accessTable(routes: readonly DescribedRoute[]): string {
  const rows = routes
    .filter(({ access }) => access.internal === undefined)
    .map(({ method, path, access }) => [`${method.toUpperCase()} ${path}`, ...cellsOf(access)])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${INTRO}${markdownTable(HEAD, rows)}`;
}

function cellsOf(rule: AccessRule): string[] {
  if (rule.public === true) return HEAD.slice(1).map(() => 'yes');
  const { org, session, superAdmin, key, adminKey } = rule;
  const person = session === undefined ? '' : org === undefined ? 'yes' : null;
  const role = (name: 'owner' | 'admin' | 'member'): string => {
    if (person !== null || org === undefined) return person ?? '';
    if (org.roles.includes(name)) return 'all';
    return org.own === true || org.self !== undefined ? 'own' : '';
  };
  return [
    role('owner'),
    role('admin'),
    role('member'),
    person ?? (org?.own === true ? 'own' : ''),
    superAdmin === true ? 'all' : (person ?? (org?.own === true ? 'own' : '')),
    key === undefined ? '' : key === true ? 'yes' : key.permission,
    adminKey?.scope ?? '',
  ];
}
