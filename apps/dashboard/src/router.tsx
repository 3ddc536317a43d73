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
import { lazy, Suspense, type ReactNode } from 'react';
import { useSession } from './api/session.js';
import { reloadWhereServed } from './new-assets.js';
import { useMe } from './session/me.queries.js';
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

const ForgotPage = lazy(async () => ({ default: (await import('./sign-in/password-pages.js')).ForgotPage }));
const ResetPage = lazy(async () => ({ default: (await import('./sign-in/password-pages.js')).ResetPage }));
const InvitePage = lazy(async () => ({ default: (await import('./sign-in/password-pages.js')).InvitePage }));
const ConfirmPage = lazy(async () => ({ default: (await import('./sign-in/confirm-page.js')).ConfirmPage }));

const rootRoute = createRootRoute({ component: Root });

const publicRoutes = [
  publicRoute('/login', Login),
  publicRoute('/forgot', ForgotPage),
  publicRoute('/reset', ResetPage),
  publicRoute('/invite', InvitePage),
  publicRoute('/confirm', ConfirmPage),
  publicRoute('/', Start),
];

function publicRoute(path: string, component: RouteComponent): AnyRoute {
  return createRoute({ getParentRoute: () => rootRoute, path, component });
}

const orgRoute = createRoute({ getParentRoute: () => rootRoute, path: '/o/$org', component: Inside });
const pageRoutes = pages.map((page) => {
  const Content = lazy(() => page.load());
  return createRoute({
    getParentRoute: () => orgRoute,
    path: page.path === '' ? '/' : page.path,
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
  scrollRestoration: true,
});

function Root(): ReactNode {
  return (
    <Suspense fallback={<Loading height={320} />}>
      <Outlet />
    </Suspense>
  );
}

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
  // What was read before stands while it cannot be read anew: the frame outlives the service.
  if (me.data === undefined) return <Unknown me={me} />;
  return (
    <PagesContext value={pages}>
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
  if (me === undefined) return null;
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
  return <Suspense fallback={<Loading height={320} />}>{children}</Suspense>;
}

/** Of one page, within the frame: its code could not be loaded, or failed. */
function Broken({ error }: { error: unknown }): ReactNode {
  return <ProblemCard failure={error} retry={() => void reloadWhereServed()} />;
}

function NothingHere(): ReactNode {
  return <Empty>There is no such page. It may have moved: use the menu.</Empty>;
}
