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

  /// Nanoseconds for which this thread had a processor: other tests run at the same time.
  private static func processorTime() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return time.tv_sec * 1_000_000_000 + time.tv_nsec
  }

  /// In a process of its own, for the descriptors. A quarter of 128 TiB are 32 stores; without a
  /// smaller map for the others there is no address space left after some 150.
  @Test func `2,000 stores are open in one process, written and watched`() async {
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
      var stores: [Store] = []
      var costs: [Int] = []
      for number in 0..<2000 {
        var options = Store.Options()
        options.isDurable = false
        let before = Self.processorTime()
        stores.append(try Store.open(.file(folder.file("\(number).realm")), options).0)
        costs.append(Self.processorTime() - before)
      }
      // The least of each: what else the machine does makes some of them cost more, and none less.
      let (first, last) = (costs[..<100].min()!, costs[1900...].min()!)
      precondition(last <= first * 2, "\(first) ns for a first one, \(last) for a last one")
      let taken = Self.descriptorCount(in: folder)
      precondition(taken == 2000 * 6, "\(taken) descriptors")
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
