import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { render, type RenderResult } from '@testing-library/react';
import type { ReactNode } from 'react';

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
  });
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
    </MantineProvider>,
  );
}
