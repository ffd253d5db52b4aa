// The pages. Addresses are after the #, so that the server needs no rules for them and a proxy may put any prefix before
// them. Every page but the playground is loaded when it is opened.

import {
  createHashHistory,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  useRouter,
} from '@tanstack/react-router';
import { FailureNotice, Notice } from '../components/notice.tsx';
import { Button } from '../components/ui/button.tsx';
import { PlaygroundPage } from '../playground/playground-page.tsx';
import { lazyPage } from './load-page.ts';
import { Shell } from './shell.tsx';

interface RouterContext {
  readonly onForget: () => void;
}

const root = createRootRouteWithContext<RouterContext>()({
  component: function Root() {
    const { onForget } = root.useRouteContext();
    return <Shell onForget={onForget} />;
  },
  notFoundComponent: () => <Notice>There is no such page.</Notice>,
});

/** A text of the address; anything else is dropped, because people write addresses by hand. */
const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);

const playground = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: (search: Record<string, unknown>): { model?: string } => {
    const model = textOf(search.model);
    return model === undefined ? {} : { model };
  },
  component: function Playground() {
    const { model } = playground.useSearch();
    const navigate = playground.useNavigate();
    return (
      <PlaygroundPage model={model} onModelChosen={() => void navigate({ search: {}, replace: true })} />
    );
  },
});

const models = createRoute({
  getParentRoute: () => root,
  path: '/models',
  component: lazyPage(() => import('../models/models-page.tsx'), 'ModelsPage'),
});

const training = createRoute({
  getParentRoute: () => root,
  path: '/training',
  component: lazyPage(() => import('../training/training-page.tsx'), 'TrainingPage'),
});

const feedback = createRoute({
  getParentRoute: () => root,
  path: '/feedback',
  component: lazyPage(() => import('../feedback/feedback-page.tsx'), 'FeedbackPage'),
});

const server = createRoute({
  getParentRoute: () => root,
  path: '/server',
  component: lazyPage(() => import('../load/server-page.tsx'), 'ServerPage'),
});

const routeTree = root.addChildren([playground, models, training, feedback, server]);

export function createConsoleRouter(context: RouterContext) {
  return createRouter({
    routeTree,
    context,
    history: createHashHistory(),
    defaultPreload: 'intent',
    defaultPendingComponent: () => <Notice>Loading…</Notice>,
    // Shown in place of the page that failed, so that the links to other pages stay.
    defaultErrorComponent: PageFailure,
  });
}

function PageFailure({ error }: { readonly error: unknown }) {
  const router = useRouter();
  return (
    <>
      <FailureNotice error={error} />
      <Button size="sm" className="mx-3 self-start" onClick={() => void router.invalidate()}>
        Try again
      </Button>
    </>
  );
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsoleRouter>;
  }
}
