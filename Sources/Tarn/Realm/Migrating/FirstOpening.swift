import TarnStore

/// The work before a process opens a file that it does not have open: the copy of a seed if there
/// is no file, and the compaction of an existing one.
struct FirstOpening {
  private let configuration: Realm.Configuration
  private let path: String

  /// Nil if there is nothing to do.
  init?(_ configuration: Realm.Configuration) {
    require(
      !configuration.readOnly || configuration.shouldCompactOnLaunch == nil,
      "A configuration cannot have both readOnly and shouldCompactOnLaunch.")
    guard configuration.seedFilePath != nil || configuration.shouldCompactOnLaunch != nil,
      case .file(let path) = configuration.location
    else { return nil }
    self.configuration = configuration
    self.path = path
  }

  func prepare() throws(Realm.Error) {
    if FileFacts.at(path) == nil {
      try copySeed()
    } else {
      compact()
    }
  }

  private func copySeed() throws(Realm.Error) {
    guard !configuration.readOnly, configuration.createsFile,
      let seed = configuration.seedFilePath?.path
    else { return }
    try publicly { () throws(StorageError) in
      var options = Store.Options()
      options.isReadOnly = true
      options.adoptsClasses = false
      let store = try StoreRegistry.open(seed, options)
      do throws(StorageError) {
        let copy = StoreCopy(
          try store.newestSnapshot(), isDurable: configuration.durability != .relaxed)
        try copy.checkPages()
        _ = try copy.write(to: path)
      } catch {
        // Another process was faster.
        guard error.code == .fileExists else { throw error }
      }
    }
  }

  /// Opening goes on, whatever the outcome.
  private func compact() {
    guard let isWorthwhile = configuration.shouldCompactOnLaunch,
      !StoreRegistry.isOpen(.file(path))
    else { return }
    do throws(StorageError) {
      _ = try StoreRegistry.compact(path, if: isWorthwhile)
    } catch {
      let isUsual = error.code == .alreadyOpen || error.code == .busy
      StoreLog.shared.write(isUsual ? .info : .warning, "did not compact: \(error)")
    }
  }
}
