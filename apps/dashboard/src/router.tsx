import {
  createRootRoute,
  createRoute,
  createRouter,
  Navigate,
  Outlet,
  type AnyRoute,
  type AnyRouter,
  type RouteComponent,
} from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { startSession, useSession } from './api/session.js';
import { reloadWhereServed } from './new-assets.js';
import { useIsBilled, useMe } from './session/me.queries.js';
import { firstOrg, isAllowed, OWN_ACCOUNT, rolesIn, whoMay } from './session/rights.js';
import { Frame } from './shell/frame.js';
import { useOrg } from './shell/org.queries.js';
import { PageHead } from './shell/page-head.js';
import { PagesContext, type Page } from './shell/pages.js';
import { ProblemCard } from './shell/problem-card.js';
import { parseSearch, stringifySearch } from './shell/search-params.js';
import { Empty, Loading } from './shell/states.js';
import { RequireSession } from './sign-in/require-session.js';

/** Every folder's pages: a page is added by its folder alone. */
const found = import.meta.glob<{ pages: readonly Page[] }>('./*/*.routes.tsx', { eager: true });
const pages = Object.values(found).flatMap((folder) => folder.pages);

const UNBILLED = pages.filter(({ isOfWallet }) => !isOfWallet);

const rootRoute = createRootRoute();

const passwordPages = (): Promise<typeof import('./sign-in/password-pages.js')> =>
  import('./sign-in/password-pages.js');

const publicRoutes = [
  publicRoute('/login', { component: Login }),
  publicRoute(
    '/forgot',
    loaded(async () => (await passwordPages()).ForgotPage),
  ),
  publicRoute(
    '/reset',
    loaded(async () => (await passwordPages()).ResetPage),
  ),
  publicRoute(
    '/invite',
    loaded(async () => (await passwordPages()).InvitePage),
  ),
  publicRoute(
    '/confirm',
    loaded(async () => (await import('./sign-in/confirm-page.js')).ConfirmPage),
  ),
  publicRoute('/', { component: Start }),
];

function publicRoute(path: string, more: { component: RouteComponent }): AnyRoute {
  return createRoute({ getParentRoute: () => rootRoute, path, ...more });
}

/**
 * A page whose code is there before it is drawn: the link to it loads it, and the page before stands until then. What React
 * shows in place of code that is still missing stays for 300 ms, however soon the code comes.
 */
function loaded(load: () => Promise<ComponentType>): {
  component: RouteComponent;
  loader: () => Promise<void>;
} {
  let Content: ComponentType | null = null;
  return {
    loader: async () => {
      Content = await load();
    },
    component: () => Content && <Content />,
  };
}

const orgRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/o/$org',
  // Beside the code of the page.
  loader: () => void startSession(),
  component: Inside,
});
const pageRoutes = pages.map((page) => {
  const { loader, component: Content } = loaded(async () => (await page.load()).default);
  return createRoute({
    getParentRoute: () => orgRoute,
    path: page.path === '' ? '/' : page.path,
    loader,
    component: () => (
      <Guarded page={page}>
        <Content />
      </Guarded>
    ),
  });
});

export const router: AnyRouter = createRouter({
  routeTree: rootRoute.addChildren([...publicRoutes, orgRoute.addChildren(pageRoutes)]),
  basepath: '/dashboard',
  parseSearch,
  stringifySearch,
  defaultNotFoundComponent: NothingHere,
  defaultErrorComponent: Broken,
  defaultPendingComponent: () => <Loading height={320} />,
  defaultPendingMinMs: 0,
  defaultPreload: 'intent',
  // Code is loaded once.
  defaultStaleTime: Infinity,
  defaultPreloadStaleTime: Infinity,
  scrollRestoration: true,
});

function Login(): ReactNode {
  const { state } = useSession();
  return state === 'in' ? <Navigate to="/" replace /> : <RequireSession>{null}</RequireSession>;
}

function Start(): ReactNode {
  return (
    <RequireSession>
      <ToFirstOrg />
    </RequireSession>
  );
}

function ToFirstOrg(): ReactNode {
  const me = useMe();
  // What was read before stands while it cannot be read anew: the frame outlives the service.
  if (me.data === undefined) return <Unknown me={me} />;
  return <Navigate to={`/o/${firstOrg(me.data)}`} replace />;
}

function Inside(): ReactNode {
  return (
    <RequireSession>
      <Framed />
    </RequireSession>
  );
}

function Framed(): ReactNode {
  const me = useMe();
  const { slug } = useOrg();
  const isBilled = useIsBilled();
  // What was read before stands while it cannot be read anew: the frame outlives the service.
  if (me.data === undefined) return <Unknown me={me} />;
  return (
    <PagesContext value={isBilled ? pages : UNBILLED}>
      <Frame me={me.data} roles={rolesIn(me.data, slug)}>
        <Outlet />
      </Frame>
    </PagesContext>
  );
}

function Unknown({ me }: { me: ReturnType<typeof useMe> }): ReactNode {
  if (me.isError) return <ProblemCard failure={me.error} retry={() => void me.refetch()} />;
  return <Loading height={320} />;
}

/** A deep link without the right says who has it, rather than fail at its first request. */
function Guarded({ page, children }: { page: Page; children: ReactNode }): ReactNode {
  const { slug } = useOrg();
  const me = useMe().data;
  const isBilled = useIsBilled();
  if (me === undefined) return null;
  if (page.isOfWallet && !isBilled) return <NothingHere />;
  if (!isAllowed(rolesIn(me, slug), page.who)) {
    return (
      <>
        <PageHead title={page.title} />
        <Empty>
          {slug === OWN_ACCOUNT ? 'This page belongs to an organization' : 'You cannot see this page'}: it is
          for {whoMay(page.who)}.
        </Empty>
      </>
    );
  }
  return children;
}

/** Message in place of one page within the frame: its code could not be loaded, or failed. */
function Broken({ error }: { error: unknown }): ReactNode {
  return <ProblemCard failure={error} retry={() => void reloadWhereServed()} />;
}

function NothingHere(): ReactNode {
  const home = { label: 'Home', run: () => void router.navigate({ to: '/' }) };
  return (
    <>
      <PageHead title="No such page" />
      <Empty action={home}>There is no page at this address. It may have moved.</Empty>
    </>
  );
}
