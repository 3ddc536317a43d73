import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import {
  createMemoryHistory,
  createRootRoute,
  createRoute,
  createRouter,
  RouterProvider,
} from '@tanstack/react-router';
import { configure, render, type RenderResult } from '@testing-library/react';
import type { ReactNode } from 'react';
import { parseSearch, stringifySearch } from './search-params.js';

/** Time above the usual second, because on a busy machine the code of a page alone takes longer. */
configure({ asyncUtilTimeout: 60_000 });

/** A component within what every page has around it. jsdom knows neither media queries nor sizes. */
export function rendered(children: ReactNode): RenderResult {
  const nothing = (): void => undefined;
  Object.assign(window, {
    matchMedia: (media: string) => ({
      media,
      matches: false,
      addEventListener: nothing,
      removeEventListener: nothing,
      addListener: nothing,
      removeListener: nothing,
    }),
    ResizeObserver: class {
      observe = nothing;
      unobserve = nothing;
      disconnect = nothing;
    },
    scrollTo: nothing,
  });
  Element.prototype.scrollIntoView = nothing;
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
    </MantineProvider>,
  );
}

/** A page at an address below /o/{org}, whose links lead to addresses as the application's do. */
export function renderedAt(address: string, page: ReactNode): { address: () => string } {
  const root = createRootRoute();
  const below = createRoute({ getParentRoute: () => root, path: '/o/$org/$', component: () => page });
  const router = createRouter({
    routeTree: root.addChildren([below]),
    history: createMemoryHistory({ initialEntries: [address] }),
    parseSearch,
    stringifySearch,
  });
  rendered(<RouterProvider router={router} />);
  return { address: () => router.state.location.href };
}
