import Foundation

/// How much of a random or repeated test a run has. All of it takes most of the tests' time, so
/// `make test` runs a part; `TARN_SEEDS=all` runs all of it: `TARN_SEEDS=all make test` for each
/// test, `make test-release` for the library's against the optimized library.
package enum Seeds {
  /// Whether this is a run with all of it.
  package static let areAll = ProcessInfo.processInfo.environment["TARN_SEEDS"] == "all"

  /// How many programs of each kind the simulation of replicas runs: `TARN_SEEDS=100000`.
  package static let count = ProcessInfo.processInfo.environment["TARN_SEEDS"].flatMap { Int($0) }

  /// The only seed to run, for a failure that names it: `TARN_SEED=7`. The simulation of replicas
  /// and the programs with real servers look at it.
  package static let chosen = ProcessInfo.processInfo.environment["TARN_SEED"].flatMap {
    UInt64($0)
  }

  /// The seeds that a random test runs with: all of them, or every fifth. What a test chooses by
  /// the remainder of its seed is mostly still all there.
  package static func of<All: RandomAccessCollection>(_ all: All) -> [All.Element] {
    areAll ? Array(all) : all.enumerated().filter { $0.offset % 5 == 0 }.map(\.element)
  }

  /// All seeds, or only so many of them.
  package static func of<All: RandomAccessCollection>(_ all: All, first few: Int) -> [All.Element] {
    areAll ? Array(all) : Array(all.prefix(few))
  }

  /// How many rounds a test has, or how large its data are: `all`, or only `few`.
  package static func rounds(_ all: Int, few: Int) -> Int { areAll ? all : few }

  /// What a test does at each of many places: all of it at each, or one thing at each in turn.
  package static func inTurn<All: RandomAccessCollection>(
    _ all: All, at place: Int
  ) -> [All.Element] where All.Index == Int {
    areAll ? Array(all) : [all[all.startIndex + place % all.count]]
  }
}
