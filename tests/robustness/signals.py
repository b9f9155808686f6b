#!/usr/bin/python3
"""Signals: which end a run with a checkpoint, which are no reason to, and that a failed call behind
one of them is an error like others.

    signals.py PERRIN [unittest arguments]
"""
import os
import resource
import signal
import subprocess
import time

import h5py

import program
from program import PERRIN, argon

ENDLESS = argon(observers=[{"type": "checkpoint"}, {"type": "thermo", "stride": 1000}])
ENDLESS["stages"][0]["steps"] = 10**9
STOPPING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGUSR1", "SIGUSR2")


class Signals(program.Case):
    def start(self, job, *arguments, **options):
        self.write("job.json", job)
        if os.path.exists(self.path("thermo.h5")):
            os.remove(self.path("thermo.h5"))
        return subprocess.Popen([PERRIN, "run", "job.json", *arguments], cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment(), **options)

    def started(self, run):
        """Waits until it writes: signals are watched before."""
        while run.poll() is None and not os.path.exists(self.path("thermo.h5")):
            time.sleep(0.01)
        self.assertIsNone(run.poll())

    def test_those_that_end_a_run_do_so_with_a_checkpoint(self):
        for name in STOPPING:
            with self.subTest(name), self.start(ENDLESS, "--overwrite") as run:
                self.started(run)
                run.send_signal(getattr(signal, name))
                output, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 0, output + errors)
                self.assertRegex(output, rf"stopped by {name} at step \d+; continue with: perrin "
                                         r"resume checkpoint\.h5")
                with h5py.File(self.path("checkpoint.h5")) as file:
                    self.assertTrue(file.keys())

    def test_warnings_may_come_again_and_before_the_end(self):
        """As SIGXCPU does every second, and SIGTERM some time after SIGUSR1."""
        with self.start(ENDLESS) as run:
            self.started(run)
            for name in ("SIGUSR1", "SIGXCPU", "SIGXCPU", "SIGUSR1", "SIGUSR2", "SIGTERM"):
                run.send_signal(getattr(signal, name))
            output, errors = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, output + errors)
            self.assertRegex(output, r"stopped by SIG\w+ at step")

    def test_a_limit_of_time_ends_it_with_a_checkpoint(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (1, 60))
        with self.start(ENDLESS, preexec_fn=limit) as run:
            output, errors = run.communicate(timeout=120)
            self.assertEqual(run.returncode, 0, output + errors)
            self.assertIn("stopped by SIGXCPU", output)

    def test_what_it_was_started_to_ignore_it_ignores(self):
        def ignore():
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        with self.start(ENDLESS, preexec_fn=ignore) as run:
            self.started(run)
            run.send_signal(signal.SIGUSR1)
            run.send_signal(signal.SIGTERM)
            output, errors = run.communicate(timeout=60)
            self.assertIn("stopped by SIGTERM", output)

    def test_a_file_that_may_not_grow_is_an_error_like_others(self):
        """ulimit -f, at sizes that fall into different files: status 3, and room makes it good."""
        job = argon(observers=[{"type": "trajectory", "stride": 1},
                               {"type": "gsd", "stride": 1},
                               {"type": "checkpoint", "steps": 100}])
        job["stages"][0]["steps"] = 600
        for blocks in (64, 300, 700):
            size = blocks * 1024
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            with self.subTest(blocks), self.start(job, "--overwrite", preexec_fn=limit) as run:
                output, errors = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 3, output + errors)
                self.assertIn("File too large", errors)
            if os.path.exists(self.path("checkpoint.h5")):
                self.good("resume", "checkpoint.h5")
                with h5py.File(self.path("trajectory.h5")) as file:
                    self.assertEqual(len(file["particles/all/position/value"]), 601)
                os.remove(self.path("checkpoint.h5"))

    def test_a_reader_that_goes_away_does_not_end_it(self):
        """perrin run job.json | head: to the end, and then status 3."""
        job = argon(observers=[{"type": "trajectory", "stride": 10},
                               {"type": "thermo", "stride": 10}])
        job["stages"][0]["steps"] = 2000
        with self.start(job) as run:
            run.stdout.readline()
            run.stdout.close()
            errors = run.stderr.read()
            self.assertEqual(run.wait(timeout=60), 3, errors)
        self.assertRegex(errors, "standard output could not be written")
        with h5py.File(self.path("trajectory.h5")) as file:
            self.assertEqual(len(file["particles/all/position/value"]), 201)

    def test_a_listing_into_a_closed_pipe_is_quiet(self):
        with subprocess.Popen([PERRIN, "schema"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as listing:
            listing.stdout.read(10)
            listing.stdout.close()
            self.assertEqual(listing.stderr.read(), b"")
            self.assertEqual(listing.wait(timeout=60), -signal.SIGPIPE)


program.main()
