import '@fontsource-variable/inter';
import '@mantine/core/styles.css';
import './print.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { keepToPerson, newQueryClient } from './api/query-client.js';
import { session } from './api/session.js';
import { router } from './router.js';
import { cssVariables, theme } from './theme.js';
import { allowStyleText, pageNonce } from './trusted-types.js';
import { reloadOnceForNewAssets } from './new-assets.js';

allowStyleText();
reloadOnceForNewAssets();
const client = newQueryClient();
keepToPerson(client, session, () => location.assign('/dashboard/'));
const root = document.querySelector('#root');
if (root === null) throw new Error('The page has no root element.');
// The code of the page first: what stands in its place would stay for longer than it takes.
void router.load().then(() =>
  createRoot(root).render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={pageNonce}
      >
        <QueryClientProvider client={client}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  ),
);
