import Foundation
import Tarn
import TestSupport
import Testing
import ToolSupport

extension ProcessTests {
  /// What the completion of an asynchronous commit says is true, however the process ends.
  @Suite struct AsyncCommitKillTests {
    /// How many commits there are, and how often they are cut short; more with `TARN_SEEDS=all`.
    private static let count = Seeds.rounds(1000, few: 400)
    private static let kills = Seeds.rounds(10, few: 6)

    /// How a process is killed.
    private enum Kill {
      /// In its commit thread, at the fault point of that number.
      case inside(Int)
      /// From outside, as soon as so many completions were told.
      case after(Int)
    }

    private func start(
      _ file: StressFile, _ word: String, environment: [String: String] = [:]
    ) throws -> ChildProcess {
      try StressTool.worker(
        "commit-group", file.path, "\(Self.count)", "1", word, environment: environment)
    }

    /// Runs the commits, and the kill. The numbers of the completions that were told, in order.
    private func told(_ file: StressFile, _ word: String, _ kill: Kill) throws -> [Int] {
      var environment: [String: String] = [:]
      var most = Int.max
      switch kill {
      case .inside(let point): environment["TARN_FAULT"] = "\(point)"
      case .after(let count): most = count
      }
      let worker = try start(file, word, environment: environment)
      var numbers: [Int] = []
      while worker.isOpen {
        for line in worker.lines() where line != "ready" {
          numbers.append(try #require(Int(line.dropFirst("done ".count)), "\(line)"))
        }
        if numbers.count >= most { worker.signal(SIGKILL) }
        if worker.isOpen { worker.waitForOutput(milliseconds: 1000) }
      }
      let end = worker.wait()
      #expect(end == .killed(SIGKILL) || numbers.count == Self.count, "\(end)")
      return numbers
    }

    /// The numbers of the commits that are in the file.
    private func found(_ file: StressFile) throws -> [Int] {
      let realm = try file.open()
      #expect(realm.problem == nil)
      let found = realm.objects(StressWriter.self).where { $0.id > 1000 }.map { $0.id - 1000 }
      #expect(realm.commits == found.count)
      return found.sorted()
    }

    @Test(arguments: ["grouped", "single"])
    func `what a completion has told is in the file after a kill`(_ word: String) throws {
      let whole = try StressFile(isDurable: true)
      let list = whole.folder + "/points"
      let all = try start(whole, word, environment: ["TARN_FAULT_COUNT": list]).finish()
      #expect(all.end == .exited(0))
      #expect(all.lines == ["ready"] + (1...Self.count).map { "done \($0)" })
      #expect(try found(whole) == Array(1...Self.count))
      let names = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
      // What makes the others worth to look at: the commits do wait for the disk.
      let syncs = names.count { $0.hasSuffix("storage.syncing") }
      #expect(syncs >= Self.count / 20)
      #expect((word == "grouped") == (syncs < Self.count / 2))
      var random = SeededRandom(seed: 11)
      var (cutShort, unheard) = (0, 0)
      for round in 0..<Self.kills {
        let file = try StressFile(isDurable: true)
        let kill: Kill =
          round % 2 == 0
          ? .inside(1 + random.below(names.count / 2))
          : .after(1 + random.below(Self.count * 4 / 5))
        let told = try told(file, word, kill)
        let found = try found(file)
        #expect(told == Array(1..<(told.count + 1)), "\(kill)")
        // No gap: what is there is all that was committed up to some moment.
        #expect(found == Array(1..<(found.count + 1)), "\(kill)")
        #expect(found.count >= told.count, "\(kill): told of \(told.count)")
        if !told.isEmpty && told.count < Self.count { cutShort += 1 }
        if found.count > told.count { unheard += 1 }
      }
      #expect(cutShort >= Self.kills / 2, "the kills came too early or too late to show anything")
      print(
        "\(word): \(cutShort) of \(Self.kills) cut short, in \(unheard) with a commit that was not "
          + "told")
    }
  }
}
