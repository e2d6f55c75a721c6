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

  @Test func `beyond the budget a store takes little address space, and more when opened anew`()
    throws
  {
    let path = folder.file("x.realm")
    var options = EnvironmentOptions()
    options.largeMapsByteCount = 0
    options.smallMapByteCount = 1 << 20
    let value = [UInt8](repeating: 7, count: 4000)
    func put(_ rounds: Range<UInt8>, in environment: Environment) throws {
      for round in rounds {
        try environment.write { transaction throws(StorageError) in
          for n in 0..<8 { try transaction.put(value, [round, UInt8(n)]) }
        }
      }
    }
    let environment = try Environment.open(path: path, options: options)
    #expect(environment.mapByteCount == 1 << 20)
    let error = #expect(throws: StorageError.self) { try put(0..<64, in: environment) }
    #expect(error?.code == .addressSpace)
    #expect(error?.detail.contains("1048576 bytes") == true, "\(error?.detail ?? "")")
    let fileByteCount = environment.statistics.fileByteCount
    environment.close()

    let again = try Environment.open(path: path, options: options)
    defer { again.close() }
    #expect(again.mapByteCount >= 4 * fileByteCount)
    #expect(try again.get([0, 0]) == value)
    try put(64..<128, in: again)
  }

  /// In a process of its own, for the descriptors. A quarter of 128 TiB are 32 stores; without a
  /// smaller map for the others there is no address space left after some 150. 600 fit into the
  /// 4,096 descriptors that systems commonly allow as the hard limit.
  @Test func `600 stores are open in one process, written and watched`() async {
    let kept = TemporaryFolder()
    let said = KeptErrors(in: kept.path)
    let result = await #expect(processExitsWith: .success) { [said = said as KeptErrors] in
      said.keep()
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      var limits = rlimit()
      getrlimit(resource, &limits)
      limits.rlim_cur = min(limits.rlim_max, 4096)
      setrlimit(resource, &limits)
      let folder = TemporaryFolder()
      var stores: [Store] = []
      for number in 0..<600 {
        var options = Store.Options()
        options.isDurable = false
        stores.append(try Store.open(.file(folder.file("\(number).realm")), options).0)
      }
      let taken = Self.descriptorCount(in: folder)
      precondition(taken == 600 * 6, "\(taken) descriptors")
      let large = stores.count { $0.environment.mapByteCount == 1 << 40 }
      precondition(large == 32, "\(large) large maps")
      precondition(stores.allSatisfy { $0.environment.mapByteCount >= 8 << 30 })
      let changes = stores.map { store in
        let seen = DispatchSemaphore(value: 0)
        let registration = SignalWatcher.shared.add(
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
}
