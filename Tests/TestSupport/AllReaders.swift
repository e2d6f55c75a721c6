package import TarnStore

package enum AllReaders {
  /// Takes all read transactions of the store that are free. They end with what is returned.
  ///
  /// - Parameter durability: that of a process which has the store open.
  package static func take(
    of path: String, _ durability: EnvironmentOptions.Durability = .full
  ) throws -> [ReadTransaction] {
    var options = EnvironmentOptions()
    options.durability = durability
    let environment = try Environment.open(path: path, options: options)
    defer { environment.close() }
    var taken: [ReadTransaction] = []
    while true {
      do throws(StorageError) {
        taken.append(try environment.beginRead())
      } catch {
        guard error.code == .readersFull else { throw error }
        return taken
      }
    }
  }
}
