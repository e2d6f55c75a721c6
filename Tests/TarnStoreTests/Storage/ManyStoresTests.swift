import Foundation
import TestSupport
import Testing

@testable import TarnStore

@Suite struct ManyStoresTests {
  let folder = TemporaryFolder()

  /// How many descriptors of this process lead to files in a folder.
  private static func descriptorCount(in folder: TemporaryFolder) -> Int {
    FilePaths.names(in: "/proc/self/fd").count { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(number)")
      return target?.hasPrefix(folder.path + "/") == true
    }
  }

  /// 2,000 with `TARN_SEEDS=all`.
  private static let count = Seeds.rounds(2000, few: 500)

  /// Opens so many stores, and returns them with the median costs of the first and the last
  /// hundred.
  private static func openMany(
    in folder: TemporaryFolder
  ) throws -> (stores: [Store], first: Int, last: Int) {
    var options = Store.Options()
    options.isDurable = false
    var stores: [Store] = []
    var costs: [Int] = []
    for _ in 0..<count {
      let path = folder.file("\(UUID().uuidString).realm")
      let before = ProcessorTime.ofThisThread()
      stores.append(try Store.open(.file(path), options).0)
      costs.append(ProcessorTime.ofThisThread() - before)
    }
    return (stores, costs[..<100].sorted()[50], costs[(count - 100)...].sorted()[50])
  }

  /// In a process of its own, for the descriptors. A quarter of 128 TiB are 32 stores; without a
  /// smaller map for the others there is no address space left after some 150.
  ///
  /// What other processes do to the caches changes even the processor time of opening, so the costs
  /// are compared up to four times: a cost that grows with the number of stores fails each time.
  @Test func `many stores are open in one process, written and watched`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limits = rlimit()
      getrlimit(resource, &limits)
      limits.rlim_cur = min(limits.rlim_max, 12_500)
      setrlimit(resource, &limits)
      let folder = TemporaryFolder()
      var (stores, first, last) = try Self.openMany(in: folder)
      for _ in 0..<3 where last > first * 2 {
        stores = []
        (stores, first, last) = try Self.openMany(in: folder)
      }
      precondition(last <= first * 2, "\(first) ns for each of the first, \(last) for the last")
      let taken = Self.descriptorCount(in: folder)
      precondition(taken == Self.count * 6, "\(taken) descriptors")
      let large = stores.count { $0.environment.mapByteCount == 1 << 40 }
      precondition(large == 32, "\(large) large maps")
      precondition(stores.allSatisfy { $0.environment.mapByteCount >= 8 << 30 })
      let changes = try stores.map { store in
        let seen = DispatchSemaphore(value: 0)
        let registration = try SignalWatcher.shared.add(
          store.signal, seen: store.signal.version, probeHead: { nil }, onChange: { seen.signal() })
        return (seen, registration)
      }
      for store in stores {
        try store.environment.put([[9, 9, 9]: [1]])
        store.signal.raise(to: store.signal.version + 1)
      }
      for (seen, _) in changes { seen.wait() }
      withExtendedLifetime((folder, changes, stores)) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }

  /// The limit that many systems give a program unless it asks for more.
  @Test
  func `with 1,024 descriptors the error of one store too many names them, and the rest go on`()
    async
  {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      var limits = rlimit(rlim_cur: 1024, rlim_max: 1024)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
      let folder = TemporaryFolder()
      var stores: [Store] = []
      var options = Store.Options()
      options.isDurable = false
      let error = #expect(throws: StorageError.self) {
        while true {
          let path = folder.file("\(stores.count).realm")
          stores.append(try Store.open(.file(path), options).0)
        }
      }
      precondition(error?.code == .limitExceeded, "\(error!)")
      precondition(error?.detail.contains("ulimit -n), which is 1024") == true, "\(error!)")
      // Of six each, less the program's own and those that opening takes in passing.
      precondition((160...170).contains(stores.count), "\(stores.count) stores")
      // What is left may not do for this.
      let held = [open("/dev/null", O_RDONLY), open("/dev/null", O_RDONLY)]
      for store in stores { try store.environment.put([[9, 9, 9]: [1]]) }
      for descriptor in held where descriptor >= 0 { close(descriptor) }
      stores.removeLast(2)
      stores.append(try Store.open(.file(folder.file("last.realm")), options).0)
      withExtendedLifetime((folder, stores)) {}
    }
    if result == nil { Issue.record("\(said.text)") }
    withExtendedLifetime(kept) {}
  }
}
