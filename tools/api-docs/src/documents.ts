import { readFileSync } from 'node:fs';
import { CatalogueConfig, CatalogueModule } from '@gateway/catalogue';
import { EdgeConfig, EdgeModule } from '@gateway/edge';
import { KeysConfig, KeysModule } from '@gateway/keys';
import { NotificationsConfig, NotificationsModule } from '@gateway/notifications';
import { UsageConfig, UsageModule } from '@gateway/usage';
import { WorkersConfig, WorkersModule } from '@gateway/workers';
import { accessTable } from './access-table.js';
import { asyncApi } from './asyncapi.js';
import { describedRoutes, type DescribedRoute } from './described-routes.js';
import { withEndpoints } from './endpoints-table.js';
import { modelRoutesTable } from './model-routes-table.js';
import { openApi } from './openapi.js';
import { providersTable } from './providers-table.js';
import { SourceTypes } from './source-types.js';

/** The controllers of the services that have endpoints, as their modules name them. Nothing is started and no setting is read. */
export function allRoutes(): DescribedRoute[] {
  return Object.entries({
    catalogue: CatalogueModule.with(new CatalogueConfig()),
    edge: EdgeModule.with({
      config: new EdgeConfig(),
      providers: new Map(),
      keyed: new Map(),
      frontDoor: {},
    }),
    keys: KeysModule.with(new KeysConfig()),
    notifications: NotificationsModule.with(new NotificationsConfig()),
    usage: UsageModule.with(new UsageConfig()),
    workers: WorkersModule.with(new WorkersConfig()),
  }).flatMap(([service, { controllers = [] }]) => describedRoutes(service, controllers));
}

/** The generated documents by their path in the repository; the README is so in its table of endpoints. */
export function documents(source = SourceTypes.ofServices()): ReadonlyMap<string, string> {
  return new Map([
    ['README.md', withEndpoints(readFileSync('README.md', 'utf8'))],
    ['docs/access.md', accessTable(allRoutes())],
    ['docs/model-routes.md', modelRoutesTable()],
    ['docs/providers.md', providersTable()],
    ['docs/openapi.json', textOf(openApi(allRoutes(), source))],
    ['docs/asyncapi.json', textOf(asyncApi(source))],
  ]);
}

function textOf(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
