print("tarn-stress")
