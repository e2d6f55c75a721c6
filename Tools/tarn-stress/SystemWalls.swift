import Foundation
import Tarn
import ToolSupport

/// Programs at the limits that the system sets: a file that is cut under them, and files that may
/// not get longer.
struct SystemWalls {
  let configuration: Realm.Configuration
  var path: String { configuration.fileURL!.path }

  /// Reads objects of a file that was cut to its header pages: SIGBUS.
  func readCutFile() throws {
    signal(SIGBUS, SIG_DFL)
    Realm.explainBusErrors()
    let realm = try Realm(configuration: configuration)
    WorkerLine.say("opened \(realm.objects(StressAccount.self).count)")
    guard truncate(path, 8192) == 0 else { WorkerLine.bad("cannot cut the file") }
    let sum = realm.objects(StressAccount.self).reduce(0) { $0 + $1.balance }
    WorkerLine.bad("read \(sum)")
  }

  /// Writes until the limit of the file's length is reached, at which SIGXFSZ ends a process; then
  /// without the limit.
  ///
  /// - Parameter byteCount: how much longer the file may get.
  func writeUpToLimit(_ byteCount: Int) throws {
    signal(SIGXFSZ, SIG_DFL)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    Self.limitFiles(rlim_t(size + byteCount))
    do {
      let realm = try Realm(configuration: configuration)
      var id = 1_000_000
      let outcome = outcome {
        while true {
          try realm.write {
            for _ in 0..<20 {
              realm.create(StressAccount.self, value: ["id": id, "note": longNote])
              id += 1
            }
          }
        }
      }
      WorkerLine.say("limited \(outcome)")
      Self.limitFiles(rlim_t.max)
      WorkerLine.say(
        "again " + self.outcome { try realm.write { _ = realm.create(StressWriter.self) } })
    } catch let error as Realm.Error {
      WorkerLine.say("open \(error.code) \(error.message)")
    }
  }

  private var longNote: String { String(repeating: "note ", count: 600) }

  private func outcome(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "fine"
    } catch let error as Realm.Error {
      return "\(error.code) \(error.message)"
    } catch {
      return "\(error)"
    }
  }

  /// The limit that the process may raise again.
  private static func limitFiles(_ byteCount: rlim_t) {
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
    limits.rlim_cur = min(byteCount, limits.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
  }
}
