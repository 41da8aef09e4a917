#!/usr/bin/env bash
# Studies and chains through a real Slurm: one node, loopback only, daemons and files in a folder that is removed at the end.
# Jobs are requeued, cancelled and stopped by a time limit; the results must be those of one process.
#
#   tests/slurm.sh target/debug/unshuffle
#
# Needs root, for the daemons and for apt-get where Slurm is not installed.
set -euo pipefail
unshuffle=$(realpath "$1")
export DEBIAN_FRONTEND=noninteractive
{ command -v slurmctld && command -v slurmd && command -v munged; } > /dev/null || { apt-get update -qq && apt-get install -y -qq slurm-wlm munge > /dev/null; }
unset BRIDGESTAN

dir=$(mktemp -d /tmp/unshuffle-slurm.XXXXXX)
# Before anything else, so that no command here ever speaks to another Slurm.
export SLURM_CONF=$dir/slurm.conf
daemons=()
stop() {
  local code=$?
  if [ $code -ne 0 ]; then
    tail -n 20 "$dir"/*.log "$dir"/*.out 2> /dev/null || true
  fi
  if [ ${#daemons[@]} -eq 3 ]; then
    scancel --user "$(id -un)" 2> /dev/null || true
    for _ in {1..50}; do
      squeue -h 2> /dev/null | grep -q . || break
      sleep 0.2
    done
  fi
  [ ${#daemons[@]} -eq 0 ] || kill "${daemons[@]}" 2> /dev/null || true
  wait
  rm -rf "$dir"
  exit $code
}
trap stop EXIT
fail() { echo "slurm: $*" >&2; exit 1; }
say() { echo "slurm: ${SECONDS} s: $*"; }

# Waits until a command succeeds; the limit only keeps a broken test from hanging.
until_so() {
  local start=$SECONDS
  until "$@" > /dev/null 2>&1; do
    [ $((SECONDS - start)) -lt 240 ] || fail "never so: $*"
    sleep 0.2
  done
}

cd "$dir"
host=$(hostname -s)
mkdir state spool
head -c 128 /dev/urandom > munge.key
chmod 400 munge.key
# A credential's life is also how long a requeued job waits.
cat > "$SLURM_CONF" <<END
ClusterName=ci
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthInfo=socket=$dir/munge.socket,cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_interval=1
KillWait=20
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=4000
PartitionName=main Nodes=ALL Default=YES
END
munged --foreground --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munge.pid" \
  --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" 2> munged.log &
daemons+=($!)
until_so test -S munge.socket
slurmctld -D -c -f "$SLURM_CONF" 2> slurmctld.log &
daemons+=($!)
slurmd -D -N "$host" -f "$SLURM_CONF" 2> slurmd.log &
daemons+=($!)
is_up() { sinfo -h -o %T | grep -qx idle; }
until_so is_up
say "Slurm $(sinfo --version | cut -d' ' -f2) is up"

# Prints the number of the job.
send() { sbatch --parsable --mem=100M "$@"; }
is_running() { squeue -h -t R -o %i -j "$1" | grep -q .; }
is_over() { ! squeue -h -o %i -j "$1" 2> /dev/null | grep -q .; }
# A job that has written a checkpoint, so that there is something to go on with.
is_saved() { is_running "$1" && test -s "$2"; }

"$unshuffle" simulate --design general --n 60 --predictors 2 --mislinked 0.2 --seed 3 --output data > /dev/null
fit=(data/config.json --set sampler.warmup=300 --set sampler.seed=5)
# As many draws as take a few seconds on this machine, so that jobs can be hit on their way.
"$unshuffle" fit "${fit[@]}" --set sampler.chains=1 --set sampler.draws=1000 --set output="$dir/short" --quiet > fit.log 2>&1
draws=$(awk '/seconds \(Sampling\)/ { n = int(4000 / $2); print (n < 2000 ? 2000 : n > 100000 ? 100000 : n) }' short/draws_1.csv)
chains=("${fit[@]}" --set sampler.chains=4 --set sampler.draws="$draws")
endless=("${fit[@]}" --set sampler.chains=1 --set sampler.draws=99999999 --set output="$dir/limited")
say "$draws draws a chain"

# A chain that no time limit is long enough for, beside all the rest.
"$unshuffle" fit plan "${endless[@]}" --slurm > limited.sbatch 2> plan.log
limited=$(send --array=1 --time=1 limited.sbatch)

"$unshuffle" fit plan "${chains[@]}" --set output="$dir/chains" --slurm > chains.sbatch 2> plan.log
sent=$(send chains.sbatch)
until_so is_saved "${sent}_2" chains/checkpoint_2.json
scancel "${sent}_2"
until_so is_saved "${sent}_3" chains/checkpoint_3.json
scontrol requeue "${sent}_3"
until_so is_over "${sent}_2"
code=0
"$unshuffle" fit collect "${chains[@]}" --set output="$dir/chains" > collect.out 2>&1 || code=$?
[ $code -eq 2 ] || fail "collect ended with $code"
grep -q "is not complete: .*chain 2 has [0-9]* of" collect.out || fail "chain 2 is not named: $(cat collect.out)"
grep -q "Interrupted: the same command goes on" "unshuffle-${sent}_2.out" || fail "the cancelled chain did not say so"
say "chain 2 cancelled, chain 3 requeued"

cat > study.json <<END
{ "repeats": 3, "output": "$dir/study",
  "data": { "design": "general", "n": [40, 60], "predictors": 2, "sigma": 0.3, "mislinked": 0.2 },
  "sampler": { "chains": 2, "warmup": 200, "draws": $((draws / 8)) },
  "methods": { "ours": {}, "oracle": { "baseline": "least_squares", "links": "true" } } }
END
"$unshuffle" study plan study.json --batch 4 --slurm > study.sbatch 2> plan.log
tasks=$(send study.sbatch)
until_so is_running "${tasks}_1"
scontrol requeue "${tasks}_1"
until_so is_running "${tasks}_2"
scancel "${tasks}_2" "${tasks}_3"
code=0
"$unshuffle" study collect study.json --strict > collect.out 2>&1 || code=$?
[ $code -eq 1 ] || fail "the study was complete too early"
say "one job of the study requeued, two cancelled"

until_so is_over "$sent"
until_so is_over "$tasks"
grep -q "Chain 3: " "unshuffle-${sent}_3.out" || fail "the requeued chain is not finished"
scontrol show job "${sent}_3" | grep -q Restarts=1 || fail "chain 3 was not requeued"
again=$(send chains.sbatch)
again_tasks=$(send study.sbatch)
until_so is_over "$again"
until_so is_over "$again_tasks"
"$unshuffle" fit collect "${chains[@]}" --set output="$dir/chains" --quiet > fit.log 2>&1
"$unshuffle" study collect study.json --strict > /dev/null
say "sent again and collected"

"$unshuffle" fit "${chains[@]}" --set output="$dir/whole" --quiet > fit.log 2>&1
"$unshuffle" study study.json --set output="$dir/whole_study" --quiet > /dev/null
without_times() { grep -v " seconds (" "$1"; }
for file in {draws,links}_{1,2,3,4}.csv rows.csv pi_mean.csv coefficients.csv trust.json; do
  [ -s "whole/$file" ] || fail "$file is not there"
  cmp <(without_times "whole/$file") <(without_times "chains/$file") || fail "$file differs"
done
for file in plan results cells coefficients pi_corner checks; do
  cmp "whole_study/$file.csv" "study/$file.csv" || fail "$file.csv of the study differs"
done
say "the results are those of one process"

until_so is_over "$limited"
scontrol show job "$limited" | grep -q JobState=TIMEOUT || fail "no time limit: $(scontrol show job "$limited")"
grep -q "Interrupted: the same command goes on" "unshuffle-${limited}_1.out" || fail "the limited chain did not say so"
rows() { grep -v '^#' "$1" | head -n "$2"; }
num_rows=$(grep -vc '^#' limited/draws_1.csv)
[ "$num_rows" -gt 1000 ] || fail "only $num_rows lines before the time limit"
shared=$((num_rows < draws ? num_rows : draws))
cmp <(rows whole/draws_1.csv $shared) <(rows limited/draws_1.csv $shared) || fail "the limited chain has other draws"
limited=$(send --array=1 --time=1 limited.sbatch)
has_grown() { [ "$(grep -vc '^#' limited/draws_1.csv)" -gt "$num_rows" ]; }
until_so has_grown
scancel "$limited"
until_so is_over "$limited"
cmp <(rows whole/draws_1.csv $shared) <(rows limited/draws_1.csv $shared) || fail "the limited chain was begun anew"
say "a chain was stopped by its time limit, and went on when it was sent again"
