/// A cluster of the open write: rows that are being edited, or a finished image that waits in
/// memory for the commit (a bulk insert seals each cluster as it fills, so that a million new rows
/// are not kept unpacked).
///
/// Its rows are those with `boundary` <= key < the next cluster's boundary.
package final class EditedCluster {
  package let boundary: ObjectKey
  /// The key in the file of the cluster that this one replaces, nil for a new one.
  let stored: ObjectKey?
  /// The number of rows of the file's cluster, as counted in the file; 0 for a new one.
  let storedRowCount: Int
  private(set) var state: State
  /// Incremented by every edit, which shows whether an image made for reading is current.
  private(set) var editCount = 0
  private var readImage: (editCount: Int, images: [SealedImage])?

  enum State {
    case working(WorkingCluster)
    case sealed(SealedImage)
  }

  init(boundary: ObjectKey, stored: ObjectKey?, storedRowCount: Int = 0, _ state: State) {
    self.boundary = boundary
    self.stored = stored
    self.storedRowCount = storedRowCount
    self.state = state
  }

  /// The rows in editable form. Unpacks a sealed image.
  func working(_ schema: @autoclosure () -> ClassSchema) throws(StorageError) -> WorkingCluster {
    editCount += 1
    switch state {
    case .working(let cluster): return cluster
    case .sealed(let sealed):
      let cluster = try WorkingCluster(sealed.image, schema())
      state = .working(cluster)
      return cluster
    }
  }

  func replace(with state: State) {
    editCount += 1
    self.state = state
  }

  /// The rows as images, in the order of keys. Rows under edit are packed for this, once per edit.
  func images(emitLong: WorkingCluster.EmitLong) throws(StorageError) -> [SealedImage] {
    switch state {
    case .sealed(let sealed): return [sealed]
    case .working(let cluster):
      if let readImage, readImage.editCount == editCount { return readImage.images }
      let images = unsafe try SealedImage.pack(cluster, emitLong: emitLong)
      readImage = (editCount, images)
      return images
    }
  }

  var smallestKey: ObjectKey? {
    switch state {
    case .working(let cluster): cluster.rowCount == 0 ? nil : cluster.key(at: 0)
    case .sealed(let sealed): sealed.firstKey
    }
  }

  var largestKey: ObjectKey? {
    switch state {
    case .working(let cluster):
      cluster.rowCount == 0 ? nil : cluster.key(at: cluster.rowCount - 1)
    case .sealed(let sealed): sealed.image.lastKey
    }
  }

  var rowCount: Int {
    switch state {
    case .working(let cluster): cluster.rowCount
    case .sealed(let sealed): sealed.image.rowCount
    }
  }
}

/// A cluster's bytes in separate memory.
@safe package final class SealedImage {
  package let firstKey: ObjectKey
  package let image: ClusterImage
  let bytes: UnsafeMutableRawBufferPointer

  init(firstKey: ObjectKey, copying source: UnsafeRawBufferPointer) throws(StorageError) {
    self.firstKey = firstKey
    unsafe bytes = .allocate(byteCount: source.count, alignment: 8)
    unsafe bytes.copyMemory(from: source)
    image = unsafe try ClusterImage(validating: UnsafeRawBufferPointer(bytes))
  }

  deinit { unsafe bytes.deallocate() }

  /// Packs the rows into as many images as they need.
  static func pack(
    _ cluster: WorkingCluster, emitLong: WorkingCluster.EmitLong
  ) throws(StorageError) -> [SealedImage] {
    var images: [SealedImage] = []
    unsafe try cluster.encode(emitLong: emitLong) { firstKey, _, bytes throws(StorageError) in
      images.append(unsafe try SealedImage(firstKey: firstKey, copying: bytes))
    }
    return images
  }
}
