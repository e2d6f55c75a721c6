import Foundation
import Tarn
import ToolSupport

extension BenchChild {
  /// W8p: observes objects that do not change, reads one that does, and records the CPU time of the
  /// whole process, in nanoseconds, from the first commit to the last.
  static func pass(_ path: String, _ shared: String, _ commits: Int) throws {
    let numbers = try SharedNumbers(shared, count: 1)
    let scheduler = ManualScheduler()
    let realm = try Realm(configuration: configuration(path), scheduler: scheduler)
    guard let ping = realm.object(ofType: Ping.self, forPrimaryKey: 1),
      let other = realm.object(ofType: Ping.self, forPrimaryKey: 2)
    else { throw ToolError("the ping object is missing") }
    var calls = 0
    let tokens = [
      other.observe { (_: ObjectChange<Ping>) in calls += 1 },
      realm.objects(Person.self).where { $0.age > 50 }.sorted(by: \.name).observe { _ in calls += 1
      },
    ]
    scheduler.pump()
    let first = calls
    let before = try cpuSeconds()
    numbers.ready = 1
    let parent = getppid()
    while numbers.seen < commits, getppid() == parent {
      scheduler.wait(timeout: 1)
      scheduler.pump()
      numbers.seen = Int64(ping.value)
    }
    numbers.times(1).pointee.read = Int64((try cpuSeconds() - before) * 1e9)
    guard calls == first else { throw ToolError("an observer was called for another object") }
    numbers.ready = 2
    for token in tokens { token.invalidate() }
  }

  private static func cpuSeconds() throws -> Double {
    var usage = rusage()
    guard getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 else {
      throw ToolError("cannot read", "the CPU time", errno: errno)
    }
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

/// W8p: the cost of a commit for an observing process, if the commit concerns none of its
/// observers. Each commit waits until the one before was seen.
func measurePassing(_ bench: Bench) throws {
  let commits = bench.rounds(1000, tiny: 50)
  let configuration = bench.configuration("passing")
  let realm = try Realm(configuration: configuration, scheduler: bench.scheduler)
  try realm.write {
    for id in 1...2 { realm.create(Ping.self, value: ["_id": id]) }
  }
  guard let ping = realm.object(ofType: Ping.self, forPrimaryKey: 1) else {
    throw ToolError("the ping object is missing")
  }
  let shared = "\(bench.folder)/passing"
  let numbers = try SharedNumbers(shared, count: 1)
  let path = configuration.fileURL!.path
  let (child, _) = try BenchChild.start(["pass", path, shared, String(commits)])
  defer { if child.isRunning { child.terminate() } }
  try numbers.wait("get ready") { numbers.ready == 1 }
  for value in 1...commits {
    try realm.write { ping.value = value }
    try numbers.wait("see a commit") { numbers.seen >= value }
  }
  try numbers.wait("count its time") { numbers.ready == 2 }
  child.waitUntilExit()
  let seconds = Double(numbers.times(1).pointee.read) * 1e-9 / Double(commits)
  bench.add(
    BenchFigure(
      "W8p", "CPU time of a process per commit that concerns no observer", .seconds,
      ours: seconds, target: .value(30e-6)))
}
